/** A card around a chart. */
import type { ReactNode } from 'react'
import { Card } from '../../../kit/card.tsx'

interface Props {
  readonly title: string
  /** What exactly is shown. */
  readonly note: string
  readonly children: ReactNode
}

export function Plot({ title, note, children }: Props) {
  return (
    <Card title={<span className="line-clamp-1 break-all">{title}</span>}>
      <p className="-mt-2 mb-2 text-xs text-soft">{note}</p>
      {children}
    </Card>
  )
}
