/** Quota usage of a mailbox. Acknowledged files count until a sweep removes them. */
import type { Mailbox } from '../../api/upload-types.ts'
import { bytes, number } from '../../kit/text/format.ts'
import { Meter } from '../../kit/charts/meter.tsx'

export function Quota({ mailbox, of }: { readonly mailbox: Mailbox; readonly of: 'bytes' | 'files' }) {
  const { name, stored, limits } = mailbox
  const isBytes = of === 'bytes'
  const most = isBytes ? limits.quotaBytes : limits.quotaFiles
  const text = isBytes ? bytes : number
  if (most === null) return <span className="text-soft">{text(stored[of])}, no quota</span>
  return (
    <Meter
      label={`Quota of ${name} in ${of}`}
      used={stored[of]}
      of={most}
      unit={isBytes ? '' : of}
      text={text}
      isBadWhenFull
    />
  )
}
