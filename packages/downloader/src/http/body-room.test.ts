import { expect, test } from 'vitest'
import { BodyRoom } from './body-room.ts'

const MIB = 1_048_576

/** A body that grows by mebibytes, as long as it is not told to pause. */
class Body {
  bytes = 0
  isPaused = false
  readonly #room: BodyRoom

  constructor(room: BodyRoom) {
    this.#room = room
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  grow(mebibytes: number): void {
    this.bytes += mebibytes * MIB
    this.#room.grow(this, mebibytes * MIB, this.bytes)
  }

  end(): void {
    this.#room.leave(this, this.bytes)
  }
}

test('while there is room all bodies grow; then one does, and the others follow in their order', () => {
  const room = new BodyRoom(10 * MIB)
  const [a, b, c] = [new Body(room), new Body(room), new Body(room)] as const
  for (const body of [a, b, c]) body.grow(3)
  expect([a, b, c].map(({ isPaused }) => isPaused)).toEqual([false, false, false])
  a.grow(2)
  b.grow(2)
  c.grow(20)
  expect([a, b, c].map(({ isPaused }) => isPaused)).toEqual([true, true, false])
  c.end()
  expect([a, b].map(({ isPaused }) => isPaused)).toEqual([false, false])
})

test('one always goes on, however full the room is', () => {
  const room = new BodyRoom(MIB)
  const bodies = Array.from({ length: 5 }, () => new Body(room))
  for (const body of bodies) body.grow(4)
  for (let ended = 0; ended < bodies.length; ended++) {
    const growing = bodies.filter(({ isPaused }) => !isPaused)
    expect(growing).toHaveLength(1)
    growing[0]!.grow(1)
    growing[0]!.end()
    bodies.splice(bodies.indexOf(growing[0]!), 1)
  }
})

test('a small body never waits', () => {
  const room = new BodyRoom(2 * MIB)
  new Body(room).grow(8)
  const small = new Body(room)
  small.grow(0.5)
  expect(small.isPaused).toBe(false)
})

test('one that is given up while it waits is not told to go on', () => {
  const room = new BodyRoom(MIB)
  const [first, second] = [new Body(room), new Body(room)] as const
  first.grow(4)
  second.grow(4)
  expect(second.isPaused).toBe(true)
  second.end()
  first.end()
  expect(second.isPaused).toBe(true)
})
