import { Request } from '@webloom/core'
import { expect, test } from 'vitest'
import { HostsMet } from './hosts-met.ts'

const pageOf = (name: string) => new Request(`http://${name}/page`)

test('beyond its bytes the host that was asked about longest ago is forgotten', () => {
  const met = new HostsMet<number>(3 * 160)
  for (const [n, name] of ['a.test', 'b.test', 'c.test'].entries()) met.set(pageOf(name), n)
  expect(met.get(pageOf('a.test'))).toBe(0)
  met.set(pageOf('d.test'), 3)
  expect(['a', 'b', 'c', 'd'].map((name) => met.get(pageOf(`${name}.test`)))).toEqual([0, undefined, 2, 3])
})

test('a long name counts with its length', () => {
  const met = new HostsMet<true>(1000)
  met.set(pageOf('a.test'), true)
  met.set(pageOf(`${'x'.repeat(900)}.test`), true)
  expect(met.get(pageOf('a.test'))).toBe(undefined)
})
