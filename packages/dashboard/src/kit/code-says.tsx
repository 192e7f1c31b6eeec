/** A hint, and where what counts is not what code says, that too. */
import type { ReactNode } from 'react'
import type { Difference } from '../api/types/mill.ts'
import { settingText } from './setting-text.ts'

interface Props {
  readonly difference: Difference | undefined
  readonly children?: ReactNode
}

export function CodeSays({ difference, children }: Props) {
  if (difference === undefined) return children
  return (
    <>
      {children}{' '}
      <span className="text-ready">Code says {settingText(difference.field, difference.code)}.</span>
    </>
  )
}
