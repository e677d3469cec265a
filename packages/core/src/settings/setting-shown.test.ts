import { expect, test } from 'vitest'
import { shownValue } from './setting-shown.ts'

test.each([
  ['DEFAULT_REQUEST_HEADERS', '{"X-Api-Key":"hush123"}'],
  ['DEFAULT_REQUEST_HEADERS', '{"Ocp-Apim-Subscription-Key":"hush123"}'],
  ['DEFAULT_REQUEST_HEADERS', { 'x-api-key': 'hush123' }],
  ['CUSTOM_X', 'Bearer hush123'],
  ['CUSTOM_X', 'Basic aHVzaDEyMzpodXNoMTIz'],
  ['CUSTOM_PW', 'hush123'],
  ['CUSTOM_SHOP_AUTH', 'hush123'],
  ['CUSTOM_JWT', 'hush123'],
  ['REDIS_PARAMS', { pasword: 'hush123' }],
  ['REDIS_PARAMS', '{"pasword":"hush123"}'],
  ['REDIS_PARAMS', '{"pasword":"hush123"'],
  ['REDIS_PARAMS', { sentinel_kwargs: { pasword: 'hush123' }, passwd: ['hush123'] }],
])('a secret is not shown: %s=%j', (name, value) => {
  expect(shownValue(name, value)).not.toMatch(/hush123|aHVzaDEy/)
})

test('what is no secret is shown', () => {
  expect(shownValue('CUSTOM_KEYBOARD', 'de')).toBe('"de"')
  const params = {
    db: 2,
    ssl_ca_certs: '/ca.pem',
    sentinels: [{ host: 'a', port: 1 }],
    tls: { servername: 'r' },
  }
  expect(shownValue('REDIS_PARAMS', params)).toBe(JSON.stringify(params))
  expect(shownValue('CUSTOM_TEXT', 'a basic example')).toBe('"a basic example"')
})
