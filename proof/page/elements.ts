/**
 * The members of DOM elements that functions in the page use. The browser's own types are not loaded here.
 */
interface Box {
  readonly left: number
  readonly right: number
}

export interface PageElement {
  readonly textContent: string | null
  readonly firstChild: PageElement | null
  readonly ownerDocument: { readonly createRange: () => PageRange }
  readonly getAttribute: (name: string) => string | null
  readonly getBoundingClientRect: () => Box
  readonly querySelectorAll: (selector: string) => Iterable<PageElement>
}

interface PageRange {
  readonly setStart: (node: PageElement, at: number) => void
  readonly setEnd: (node: PageElement, at: number) => void
  readonly getBoundingClientRect: () => Box
}
