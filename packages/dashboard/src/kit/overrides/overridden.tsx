/** A value or hint, followed by the value in code and who overrode it, when an operator did. */
import type { ReactNode } from 'react'
import type { Override } from '../../api/types.ts'
import { settingText } from './setting-text.ts'
import { Ago } from '../text/time.tsx'

interface Props {
  readonly override: Override | undefined
  readonly children?: ReactNode
}

export function Overridden({ override, children }: Props) {
  if (override === undefined || !override.isApplied) return children
  const { option, code, isInCode, by, at } = override
  return (
    <>
      {children}{' '}
      <span className="text-ready">
        Overridden{by !== null && ` by ${by}`} <Ago at={at} />. {isInCode ? 'Value in code:' : 'Default:'}{' '}
        {settingText(option, code)}.
      </span>
    </>
  )
}
