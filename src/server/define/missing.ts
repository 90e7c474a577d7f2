// How a type says that something has to be added before it can be used.

/** The type of a member that this handler cannot use. It cannot be called, and the error names what to add. */
export interface Missing<What extends string> {
  /** What to add. */
  readonly "~add": What;
}
