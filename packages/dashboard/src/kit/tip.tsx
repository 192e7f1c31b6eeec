/** A short text that appears beside something while it is pointed at or focused. */
import { Tooltip } from 'radix-ui'
import type { ReactNode } from 'react'

export const TipProvider = Tooltip.Provider

export function Tip({ text, children }: { readonly text: ReactNode; readonly children: ReactNode }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-w-80 rounded-md bg-text px-2 py-1 text-xs break-words text-page shadow-lg"
        >
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
