/** How often V8 must see a function's body before it remembers what the function reads: eight times, in Node 20 and 24. */
const TIMES = 1000

/**
 * Makes the methods of strings fast again, in a process where somebody has written `class … extends String`, as ioredis does.
 *
 * V8 keeps the methods of a prototype in a hash table from when a class extends it until something reads one through an object. Then it lays them out so that
 * compiled code need not look for them. Nobody has string objects, and what reads a method of a plain string does not count: so `charCodeAt` in
 * a loop takes three to four times as long for the rest of the process. On Redis that was 3 % of a page's processor time. Classes that come later change
 * nothing any more. Figures: docs/decisions/broad-crawls-measured.md.
 */
export function keepStringsFast(): void {
  const text = Object('a') as string
  for (let n = 0; n < TIMES; n++) text.charCodeAt(0)
}
