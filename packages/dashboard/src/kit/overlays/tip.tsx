/**
 * Tooltip, shown while its target is hovered or focused. The page has hundreds of targets, so they share one
 * element in the browser's top layer, which is also above dialogs.
 */
import {
  cloneElement,
  type ReactElement,
  type ReactNode,
  useLayoutEffect,
  useRef,
  useSyncExternalStore,
} from 'react'

interface Shown {
  readonly text: ReactNode
  readonly about: Element
}

const ID = 'tip'
const AFTER_MS = 250
const APART = 6

let shown: Shown | null = null
let waiting: ReturnType<typeof setTimeout> | undefined
const listeners = new Set<() => void>()

function show(next: Shown | null): void {
  clearTimeout(waiting)
  shown = next
  for (const listener of listeners) listener()
}

interface Handlers {
  readonly onPointerEnter?: (event: { currentTarget: Element }) => void
  readonly onPointerLeave?: (event: unknown) => void
  readonly onFocus?: (event: { currentTarget: Element }) => void
  readonly onBlur?: (event: unknown) => void
  readonly onClick?: (event: unknown) => void
}

/** `children`: one element that passes these props on to what it renders. */
export function Tip({
  text,
  children,
}: {
  readonly text: ReactNode
  readonly children: ReactElement<Handlers>
}) {
  const { props } = children
  return cloneElement(children, {
    'aria-describedby': ID,
    onPointerEnter(event: { currentTarget: Element }) {
      props.onPointerEnter?.(event)
      const about = event.currentTarget
      clearTimeout(waiting)
      waiting = setTimeout(() => show({ text, about }), AFTER_MS)
    },
    onPointerLeave(event: unknown) {
      props.onPointerLeave?.(event)
      show(null)
    },
    onFocus(event: { currentTarget: Element }) {
      props.onFocus?.(event)
      if (!event.currentTarget.matches(':focus-visible')) return
      const about = event.currentTarget
      clearTimeout(waiting)
      // A closing menu returns the focus while it closes, and the browser refuses to open a popover at that
      // moment.
      waiting = setTimeout(() => show({ text, about }), 0)
    },
    onBlur(event: unknown) {
      props.onBlur?.(event)
      show(null)
    },
    onClick(event: unknown) {
      show(null)
      props.onClick?.(event)
    },
  } as Handlers)
}

/** Rendered once per page. */
export function TipLayer() {
  const place = useRef<HTMLDivElement>(null)
  const now = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => shown,
  )
  useLayoutEffect(() => {
    const tip = place.current
    if (tip === null || now === null) return undefined
    // The target may have been removed.
    if (!now.about.isConnected) return show(null)
    // The cleanup hides the tooltip, so this shows it above any popover that was opened since.
    tip.showPopover()
    const about = now.about.getBoundingClientRect()
    const own = tip.getBoundingClientRect()
    const left = about.left + about.width / 2 - own.width / 2
    const isAbove = about.top - own.height - APART > 0
    tip.style.left = `${Math.max(APART, Math.min(left, innerWidth - own.width - APART))}px`
    tip.style.top = `${isAbove ? about.top - own.height - APART : about.bottom + APART}px`
    const hide = (): void => show(null)
    addEventListener('scroll', hide, { capture: true, once: true })
    addEventListener('keydown', hide, { capture: true, once: true })
    return () => {
      removeEventListener('scroll', hide, { capture: true })
      removeEventListener('keydown', hide, { capture: true })
      tip.hidePopover()
    }
  }, [now])
  return (
    <div
      ref={place}
      id={ID}
      role="tooltip"
      popover="manual"
      className="pointer-events-none fixed inset-auto m-0 max-w-80 rounded-md bg-text px-2 py-1 text-xs break-words text-page shadow-lg"
    >
      {now?.text}
    </div>
  )
}
