/** A card around a chart. On a wide screen, two are in the first row and three in the second. */
import type { ReactNode } from 'react'
import { Card } from '../../../kit/card.tsx'
import { classes } from '../../../kit/classes.ts'

interface Props {
  readonly title: string
  /** What exactly is shown. */
  readonly note: string
  readonly wide?: boolean
  readonly last?: boolean
  readonly children: ReactNode
}

export function Plot({ title, note, wide = false, last = false, children }: Props) {
  return (
    <Card
      title={<span className="line-clamp-1 break-all">{title}</span>}
      className={classes(wide ? 'xl:col-span-3' : 'xl:col-span-2', last && 'lg:max-xl:col-span-2')}
    >
      <p className="-mt-2 mb-2 text-xs text-soft">{note}</p>
      {children}
    </Card>
  )
}
