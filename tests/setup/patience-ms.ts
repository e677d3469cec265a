/** How long a test waits for what must come: below the time in which a test must end, so that the wait says what it waited for. */
export const PATIENCE_MS = 45_000
