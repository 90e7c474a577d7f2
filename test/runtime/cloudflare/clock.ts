// A clock that a test can move, for the Worker and its objects alike. It must be imported first.

const real = Date.now;
let offset = 0;
Date.now = () => real() + offset;

/** How far the clock is ahead of the platform's. */
export const ahead = (): number => offset;

/** Moves the clock forward. */
export const move = (ms: number): void => {
  offset += ms;
};
