/** Tabs of a page. */
import { Tabs as Radix } from 'radix-ui'
import { type ReactNode, useEffect, useRef } from 'react'

interface Tab {
  readonly key: string
  readonly name: ReactNode
  readonly content: ReactNode
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
  const list = useRef<HTMLDivElement>(null)
  // On a phone, they do not all fit.
  useEffect(() => {
    const holder = list.current?.getBoundingClientRect()
    const tab = list.current?.querySelector('[data-state=active]')?.getBoundingClientRect()
    if (holder === undefined || tab === undefined) return
    // Not scrollIntoView: it would scroll the page, too.
    const beyond = Math.max(0, tab.right - holder.right) - Math.max(0, holder.left - tab.left)
    list.current?.scrollBy({ left: beyond })
  }, [chosen])
  return (
    <Radix.Root value={chosen} onValueChange={choose}>
      <Radix.List
        ref={list}
        aria-label={label}
        className="flex gap-1 overflow-x-auto border-b border-line px-2"
      >
        {tabs.map(({ key, name }) => (
          <Radix.Trigger
            key={key}
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
