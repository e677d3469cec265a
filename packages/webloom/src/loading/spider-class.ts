import { Spider, type SpiderClass } from '@webloom/spider'

/**
 * Returns whether a value is a subclass of Spider, be it that of another copy of the package: a project may have its own
 * webloom beside the one whose command runs, and `instanceof` knows only this one's.
 */
export function isSpiderClass(value: unknown): value is SpiderClass {
  if (typeof value !== 'function' || isSpiderItself(value)) return false
  for (let base = baseOf(value); base; base = baseOf(base)) {
    if (isSpiderItself(base)) return true
  }
  return false
}

// biome-ignore lint/complexity/noBannedTypes: classes of unknown constructors are compared, none is called.
type AnyClass = Function

function baseOf(value: AnyClass): AnyClass | undefined {
  const base: unknown = Object.getPrototypeOf(value)
  return typeof base === 'function' && base !== Function.prototype ? base : undefined
}

function isSpiderItself(value: AnyClass): boolean {
  if (value === Spider) return true
  const { prototype } = value
  return (
    value.name === 'Spider' &&
    Object.hasOwn(value, 'attach') &&
    typeof prototype?.start === 'function' &&
    typeof prototype.parse === 'function'
  )
}
