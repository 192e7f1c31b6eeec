/** Tabs of a page. */
import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

interface Tab {
  readonly key: string
  readonly name: ReactNode
  readonly content: ReactNode
}

/** On a phone, the tabs do not all fit. Unlike scrollIntoView, this does not scroll the page. */
function reveal(tab: HTMLElement | null): void {
  const list = tab?.parentElement
  if (tab === null || list === null || list === undefined) return
  const [own, room] = [tab.getBoundingClientRect(), list.getBoundingClientRect()]
  list.scrollBy({ left: Math.max(0, own.right - room.right) - Math.max(0, room.left - own.left) })
}

export function Tabs({
  label,
  tabs,
  chosen,
  choose,
}: {
  readonly label: string
  readonly tabs: readonly Tab[]
  readonly chosen: string
  readonly choose: (key: string) => void
}) {
  return (
    <Radix.Root value={chosen} onValueChange={choose}>
      <Radix.List aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line px-2">
        {tabs.map(({ key, name }) => (
          <Radix.Trigger
            key={key}
            ref={key === chosen ? reveal : undefined}
            value={key}
            className="-mb-px h-9 rounded-t-md border-b-2 border-transparent px-3 whitespace-nowrap text-soft hover:text-text data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-text focus-visible:-outline-offset-2"
          >
            {name}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(({ key, content }) => (
        <Radix.Content key={key} value={key} className="outline-none">
          {content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
