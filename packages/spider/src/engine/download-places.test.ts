import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { type DownloadPlace, DownloadPlaces, type DownloadPlacesOptions } from './download-places.ts'

const page = () => new Request('http://a.test/')

function placesOf(options: Partial<DownloadPlacesOptions> = {}) {
  const rooms: number[] = []
  const places: DownloadPlaces = new DownloadPlaces({
    max: 2,
    onRoom: () => void rooms.push(places.free),
    ...options,
  })
  return { places, rooms }
}

/** A download that has stepped aside, and what it waits for. */
function waiting(place: DownloadPlace) {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  return { back: place.stepAside(promise), resolve: () => resolve('here'), reject }
}

test('a download that steps aside has no place, and others get it', () => {
  const { places, rooms } = placesOf()
  const [first] = [places.begin(page()), places.begin(page())]
  expect(places.free).toBe(0)
  waiting(first)
  expect({ rooms, free: places.free, downloads: places.downloads }).toEqual({
    rooms: [1],
    free: 1,
    downloads: 2,
  })
})

test('those that come back wait for a place, in their order and before new requests', async () => {
  const { places } = placesOf()
  const back: string[] = []
  const aside = ['a', 'b', 'c'].map((name) => {
    const place = places.begin(page())
    const wait = waiting(place)
    void wait.back.then(() => back.push(name))
    return { place, ...wait }
  })
  const others = [places.begin(page()), places.begin(page())]
  for (const { resolve } of [aside[1]!, aside[0]!, aside[2]!]) {
    resolve()
    await new Promise(setImmediate)
  }
  expect(back).toEqual([])
  for (const other of others) other.leave()
  expect({ back, free: places.free }, 'they go on together').toEqual({ back: [], free: 0 })
  await new Promise(setImmediate)
  expect(back).toEqual(['b', 'a'])
  aside[1]!.place.leave()
  await new Promise(setImmediate)
  expect(back).toEqual(['b', 'a', 'c'])
})

test('one that ends before it goes on leaves its place to the next in line', async () => {
  const { places } = placesOf({ max: 1 })
  const first = places.begin(page())
  const back = waiting(first)
  const second = places.begin(page())
  const third = places.begin(page())
  const entered = third.entered()
  back.resolve()
  await new Promise(setImmediate)
  second.leave()
  expect([first.isHeld, third.isHeld], 'the third stood in line before the first came back').toEqual([
    false,
    true,
  ])
  third.leave()
  expect(first.isHeld).toBe(true)
  await Promise.all([back.back, entered])
  first.leave()
  expect({ free: places.free, downloads: places.downloads }).toEqual({ free: 1, downloads: 0 })
})

test('while the crawl is paused a download that has sent nothing does not come back; one that has sent something does', async () => {
  const { places, rooms } = placesOf()
  const back: string[] = []
  const aside = ['a', 'b', 'c'].map((name) => {
    const place = places.begin(page())
    const wait = waiting(place)
    void wait.back.then(() => back.push(name))
    return { place, ...wait }
  })
  places.pause()
  aside[1]!.place.sentAtMs = 0
  for (const { resolve } of aside) resolve()
  await new Promise(setImmediate)
  expect(back).toEqual(['b'])
  aside[1]!.place.leave()
  rooms.length = 0
  places.resume()
  await new Promise(setImmediate)
  expect(back).toEqual(['b', 'a', 'c'])
  expect({ rooms, free: places.free }).toEqual({ rooms: [], free: 0 })
})

test('nothing is leased while 128 have just stepped aside; room is told of when one has come back, and when they have waited for long', async () => {
  const { places, rooms } = placesOf()
  const aside = Array.from({ length: 128 }, () => waiting(places.begin(page())))
  expect({ free: places.free, room: places.room }).toEqual({ free: 2, room: 0 })
  rooms.length = 0
  aside[0]!.resolve()
  await aside[0]!.back
  expect({ rooms, room: places.room }).toEqual({ rooms: [1], room: 1 })
  waiting(places.begin(page()))
  expect(places.room).toBe(0)
  rooms.length = 0
  await expect.poll(() => rooms).toEqual([1])
})

test('of many places four times as many may have just stepped aside', () => {
  const { places } = placesOf({ max: 64 })
  for (let n = 0; n < 256; n++) {
    expect(places.room).toBe(64)
    waiting(places.begin(page()))
  }
  expect(places.room).toBe(0)
})

test('a request with very long headers keeps its place', () => {
  const { places } = placesOf({ asideBytesMax: 20_000 })
  waiting(places.begin(new Request('http://a.test/', { headers: { 'x-long': 'x'.repeat(20_000) } })))
  expect(places.free).toBe(1)
})

test('a request with something in its meta that is no JSON keeps its place', () => {
  const { places } = placesOf()
  const request = page()
  Object.assign(request.meta, { count: 1n })
  waiting(places.begin(request))
  expect(places.free).toBe(1)
})

test('a request that was leased while others came back waits for a place, too', async () => {
  const { places } = placesOf({ max: 1 })
  const first = places.begin(page())
  const second = places.begin(page())
  expect(second.isHeld).toBe(false)
  const entered = second.entered()
  first.leave()
  await entered
  expect({ isHeld: second.isHeld, downloads: places.downloads }).toEqual({ isHeld: true, downloads: 1 })
})

test('what was waited for in vain is told once there is a place', async () => {
  const { places } = placesOf({ max: 1 })
  const wait = waiting(places.begin(page()))
  const other = places.begin(page())
  wait.reject(new Error('no such name'))
  let isTold = false
  const told = expect(wait.back.finally(() => (isTold = true))).rejects.toThrow('no such name')
  await new Promise(setImmediate)
  expect(isTold).toBe(false)
  other.leave()
  await told
})

test('a download that is cut off leaves without a place, wherever it waits', async () => {
  const { places } = placesOf({ max: 1 })
  const first = places.begin(page())
  const aside = waiting(first)
  const second = places.begin(page())
  const inLine = waiting(second)
  const third = places.begin(page())
  inLine.resolve()
  await new Promise(setImmediate)
  const isNew = places.begin(page())
  const entered = isNew.entered()
  for (const place of [first, second, isNew]) place.leave()
  expect(await inLine.back).toBe('here')
  await entered
  aside.resolve()
  expect(await aside.back).toBe('here')
  expect(places.downloads).toBe(1)
  third.leave()
  expect({ downloads: places.downloads, free: places.free }).toEqual({ downloads: 0, free: 1 })
})

test.each([
  ['many', { asideMax: 1 }, page()],
  [
    'bytes',
    { asideBytesMax: 100_000 },
    new Request('http://a.test/', { method: 'POST', body: 'a'.repeat(90_000) }),
  ],
  [
    'bytes of meta',
    { asideBytesMax: 100_000 },
    new Request('http://a.test/', { meta: { a: 'a'.repeat(45_000) } }),
  ],
  [
    'bytes of lists in cbKwargs',
    { asideBytesMax: 100_000 },
    new Request('http://a.test/', {
      cbKwargs: { a: [{ b: 'a'.repeat(22_000) }, { b: 'a'.repeat(22_000) }] },
    }),
  ],
  [
    'bytes of small things in meta',
    { asideBytesMax: 100_000 },
    new Request('http://a.test/', {
      meta: Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`key ${at}`, at % 2 === 0])),
    }),
  ],
])('where too %s are aside, a request waits in its place', async (_, options, request) => {
  const { places } = placesOf(options)
  const first = waiting(places.begin(request))
  const second = waiting(places.begin(request))
  expect(places.free).toBe(1)
  second.resolve()
  await second.back
  first.resolve()
  await first.back
  expect(places.free).toBe(0)
})
