import { WebloomError } from '@webloom/core'
import { Selector } from '@webloom/selectors'
import type { Response } from '../responses/response.ts'
import { FRAMEWORK_CLASS, Spider } from '../spider.ts'
import { outputList, outputStream, type SpiderOutput } from './spider-output.ts'
import { xmlNodes } from './xml-nodes.ts'

/** Reads XML feeds: `parseNode` gets each element with the name `itertag`. */
export class XMLFeedSpider extends Spider {
  static override readonly [FRAMEWORK_CLASS]: true = true
  /**
   * `iternodes` reads a feed element by element, whatever its length. `xml` and `html` build a tree of all of it, so that
   * an element's surroundings can be reached from it.
   */
  iterator: 'iternodes' | 'xml' | 'html' = 'iternodes'
  /** The name of the elements, with their prefix if they have one. */
  itertag = 'item'
  /** The prefixes that XPath queries use, with the namespaces that they stand for. */
  namespaces: readonly (readonly [prefix: string, uri: string])[] = []

  /** Gets each response before it is read, and returns it or one with another body. */
  adaptResponse(response: Response): Response | Promise<Response> {
    return response
  }

  /** Gets an element, and returns what it holds: items, requests, several, or nothing. */
  parseNode(_response: Response, _node: Selector): SpiderOutput {
    throw new WebloomError(
      'WL_CALLBACK_UNKNOWN',
      `${this.constructor.name} has no parseNode method; an XMLFeedSpider gives it each <${this.itertag}>`,
    )
  }

  /** Gets what `parseNode` returned for an element, and returns what goes on. By default all of it. */
  processResults(_response: Response, results: unknown[]): SpiderOutput {
    return results
  }

  override async *parse(received: Response): AsyncGenerator<unknown> {
    const response = await this.adaptResponse(received)
    for (const node of this.#nodes(response)) {
      const results = await outputList(this.parseNode(response, node))
      yield* outputStream(this.processResults(response, results))
    }
  }

  #nodes({ text }: Response): Iterable<Selector> {
    switch (this.iterator) {
      case 'iternodes':
        return this.#eachNode(text)
      case 'xml':
      case 'html':
        return this.#withNamespaces(Selector.from(text, { type: this.iterator })).xpath(`//${this.itertag}`)
      default:
        throw new WebloomError(
          'WL_SPIDER_LOAD',
          `iterator of spider ${this.name} is ${JSON.stringify(this.iterator)}; expected iternodes, xml or html`,
        )
    }
  }

  *#eachNode(xml: string): Generator<Selector> {
    for (const node of xmlNodes(xml, this.itertag)) yield this.#withNamespaces(node)
  }

  #withNamespaces(selector: Selector): Selector {
    for (const [prefix, uri] of this.namespaces) selector.registerNamespace(prefix, uri)
    return selector
  }
}
