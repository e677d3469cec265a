/** Markup that is safe to put into a page as it is. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

type Part = string | number | Html | readonly Html[]

/** Markup from a template: strings are escaped where they are put in, so that no caller can forget it. */
export function html(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(String.raw({ raw: template }, ...parts.map(markupOf)))
}

/** Nothing, for the other branch of a condition. */
export const nothing = new Html('')

function markupOf(part: Part): string {
  if (part instanceof Html) return part.markup
  if (typeof part === 'object') return part.map(markupOf).join('\n')
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
