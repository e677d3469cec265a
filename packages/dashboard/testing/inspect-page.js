/** An expression that is evaluated in a page: what is wrong with it for eyes, keyboards and narrow screens. */
;(() => {
  /** Large text may have a contrast of 3, by WCAG AA; other text 4.5. */
  const LARGE_PX = 24

  function lightOf(colour) {
    const [r = 0, g = 0, b = 0, a = 1] = colour.match(/[\d.]+/g).map(Number)
    const [red, green, blue] = [r, g, b].map((part) =>
      part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    )
    return { a, value: 0.2126 * red + 0.7152 * green + 0.0722 * blue }
  }

  function groundOf(element) {
    for (let at = element; at; at = at.parentElement) {
      const { a, value } = lightOf(getComputedStyle(at).backgroundColor)
      if (a > 0.5) return value
    }
    return 1
  }

  function contrastOf(element) {
    const [one, other] = [lightOf(getComputedStyle(element).color).value, groundOf(element)]
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
  }

  function isFaint(element) {
    const size = Number.parseFloat(getComputedStyle(element).fontSize)
    return contrastOf(element) < (size >= LARGE_PX ? 3 : 4.5)
  }

  const hasText = (element) =>
    [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== '')
  const nameOf = (element) =>
    [
      element.getAttribute('aria-label') ?? element.textContent,
      ...[...(element.labels ?? [])].map((label) => label.textContent),
    ]
      .join('')
      .trim()
  const texts = [...document.querySelectorAll('body *')].filter(
    (one) => one.checkVisibility() && hasText(one),
  )
  const named = [...document.querySelectorAll('a, button, input, summary, [role=img]')]
  return {
    sideways: Math.max(0, document.documentElement.scrollWidth - innerWidth),
    cut: [...document.querySelectorAll('.scrolls')]
      .filter((one) => one.scrollWidth > one.clientWidth)
      .map((one) => one.getAttribute('aria-label')),
    faint: texts
      .filter(isFaint)
      .map(
        (one) =>
          `${one.className || one.tagName} ${contrastOf(one).toFixed(1)}: ${one.textContent.slice(0, 30)}`,
      ),
    nameless: named.filter((one) => nameOf(one) === '').map((one) => one.outerHTML.slice(0, 80)),
    headings: document.querySelectorAll('h1').length,
  }
})()
