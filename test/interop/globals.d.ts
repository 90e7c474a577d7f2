// The v1 client's declarations name this type of the browser's library, which this project does not use.
type HeadersInit = NonNullable<RequestInit["headers"]>;
