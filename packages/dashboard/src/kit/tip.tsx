/** A short text that appears beside something while it is pointed at or focused. */
import { Tooltip } from 'radix-ui'
import type { ReactNode } from 'react'
import { useLayer } from './layer.ts'

export const TipProvider = Tooltip.Provider

export function Tip({ text, children }: { readonly text: ReactNode; readonly children: ReactNode }) {
  const layer = useLayer()
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal container={layer}>
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
