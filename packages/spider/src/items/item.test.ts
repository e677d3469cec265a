import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import { type CheckedItem, InvalidItem, item } from './item.ts'

interface Quote {
  text: string
  tags: string[]
}

const schemas = {
  zod: z.object({ text: z.string(), tags: z.array(z.string()).default([]) }),
  valibot: v.object({ text: v.string(), tags: v.optional(v.array(v.string()), []) }),
  arktype: type({ text: 'string', tags: type('string[]').default(() => []) }),
}

describe.each(Object.entries(schemas))('an item checked by %s', (_, schema) => {
  test('is what the schema makes of the value', () => {
    expect(item(schema, { text: 'hi' })).toEqual({ text: 'hi', tags: [] })
  })

  test('that is wrong is an InvalidItem, which names the paths', () => {
    const value = { text: 1, tags: ['a', 2] }
    const checked = item(schema, value)
    expect(checked).toBeInstanceOf(InvalidItem)
    expect(checked).toMatchObject({ value, name: 'InvalidItem', code: 'WL_DROP_ITEM' })
    expect((checked as InvalidItem).message).toMatch(/text: .*tags\.1: /s)
  })
})

test('a schema that validates asynchronously gives a promise that never rejects for the value', async () => {
  const known = z.object({ isbn: z.string().refine(async (isbn) => isbn === '1', 'nobody knows it') })
  expect(await item(known, { isbn: '1' })).toEqual({ isbn: '1' })
  const wrong = await item(known, { isbn: '2' })
  expect(wrong).toBeInstanceOf(InvalidItem)
  expect((wrong as InvalidItem).message).toBe('isbn: nobody knows it')
})

test('many issues are counted, not listed', () => {
  const checked = item(z.array(z.string()), Array(12).fill(1)) as InvalidItem
  expect(checked.message).toMatch(/^0: [^;]+(; [1-4]: [^;]+){4}; and 7 more$/)
  expect(checked.issues).toHaveLength(12)
})

test('no schema at all is told', () => {
  expect(() => item({} as never, {})).toThrow(/without a schema/)
})

test('the type is what the schema gives, beside what may come in its place', () => {
  expectTypeOf(item(schemas.zod, {})).toEqualTypeOf<CheckedItem<Quote>>()
  expectTypeOf(item(schemas.valibot, {})).toEqualTypeOf<CheckedItem<Quote>>()
  expectTypeOf(item(schemas.arktype, {})).toEqualTypeOf<CheckedItem<Quote>>()
  ;async () => {
    const quote = await item(schemas.zod, {})
    if (!(quote instanceof InvalidItem)) expectTypeOf(quote.tags).toEqualTypeOf<string[]>()
  }
})
