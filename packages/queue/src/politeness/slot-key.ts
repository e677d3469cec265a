/** Returns a slot's name in keys and job ids, which may hold no colon. */
export function slotKey(slot: string): string {
  return encodeURIComponent(slot.toWellFormed())
}
