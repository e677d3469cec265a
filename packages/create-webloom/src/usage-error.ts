/** What the user can put right. Its message is shown as it is, without a stack. */
export class UsageError extends Error {}
