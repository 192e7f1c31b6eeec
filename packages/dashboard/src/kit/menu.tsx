/** A button that opens a list of choices. */
import { DropdownMenu } from 'radix-ui'
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import { useLayer } from './layer.ts'

export function Menu({ trigger, children }: { readonly trigger: ReactNode; readonly children: ReactNode }) {
  const layer = useLayer()
  // Not modal: a modal one writes a style into the page, which its headers forbid.
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={layer}>
        <DropdownMenu.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          className="z-40 max-h-96 min-w-44 overflow-y-auto rounded-lg border border-line bg-card p-1 shadow-xl"
        >
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

const ITEM =
  'flex h-8 items-center gap-2 rounded-md px-2 outline-none data-highlighted:bg-sunk data-disabled:opacity-50'

interface ItemProps {
  readonly icon?: LucideIcon
  readonly isDangerous?: boolean
  readonly isDisabled?: boolean
  readonly select: () => void
  readonly children: ReactNode
}

export function MenuItem({
  icon: Icon,
  isDangerous = false,
  isDisabled = false,
  select,
  children,
}: ItemProps) {
  return (
    <DropdownMenu.Item
      disabled={isDisabled}
      onSelect={select}
      className={classes(ITEM, 'cursor-pointer', isDangerous && 'text-dead')}
    >
      {Icon !== undefined && <Icon aria-hidden className="size-4" />}
      {children}
    </DropdownMenu.Item>
  )
}

/** Stays open, so that several can be chosen. */
export function MenuCheck({
  checked,
  change,
  children,
}: {
  readonly checked: boolean
  readonly change: (checked: boolean) => void
  readonly children: ReactNode
}) {
  return (
    <DropdownMenu.CheckboxItem
      checked={checked}
      onCheckedChange={change}
      onSelect={(event) => event.preventDefault()}
      className={classes(ITEM, 'cursor-pointer')}
    >
      <span aria-hidden className="w-4 text-accent">
        {checked ? '✓' : ''}
      </span>
      {children}
    </DropdownMenu.CheckboxItem>
  )
}
