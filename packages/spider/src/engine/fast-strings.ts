/** V8 notes what a function reads only once it has run for a while: after 14 or 15 turns of the loop below in Node 20 and 24. Many more take microseconds. */
const TURNS = 1000

/**
 * Makes the methods of strings fast again, in a process where somebody has written `class … extends String`, as ioredis does.
 *
 * V8 keeps the methods of a prototype in a hash table from when a class extends it until something reads one of them through an object. Then it lays them out so
 * that compiled code need not look for them. All other code reads the methods of plain strings, which does not count, so that `charCodeAt` in a loop takes three to
 * four times as long for the rest of the process. A `String` object counts. Classes that come later change nothing any more.
 *
 * On Redis it was 3 % of a page's processor time: docs/decisions/broad-crawls-measured.md.
 */
export function keepStringsFast(): void {
  const text = new String('a')
  for (let turn = 0; turn < TURNS; turn++) text.charCodeAt(0)
}
