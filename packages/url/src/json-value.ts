/** What JSON can say. It stands here, in the lowest package, so that requests, items and queries mean the same by it. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }
