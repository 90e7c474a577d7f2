/** The longest that anything may be told to wait: what is more is a mistake, not a wish. */
export const tenYears: number = 10 * 366 * 24 * 3_600_000;
