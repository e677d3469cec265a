import { InvalidUrl } from '@webloom/url'
import { expect, test } from 'vitest'
import { SettingsError, WebloomError } from './errors.ts'

test('an InvalidUrl, which is declared in another package, is one of our errors all the same', () => {
  const error = new InvalidUrl('x', 'it has no scheme')
  expect(error).toBeInstanceOf(WebloomError)
  expect(error).not.toBeInstanceOf(SettingsError)
  expect(error).toMatchObject({ code: 'WL_URL_INVALID', name: 'InvalidUrl', url: 'x' })
})
