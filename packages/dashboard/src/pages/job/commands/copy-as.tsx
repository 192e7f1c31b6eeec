/** Copies the command that enqueues a job like this one. */
import { ChevronDown, Terminal } from 'lucide-react'
import { addressOf } from '../../../api/client.ts'
import type { Inspected, Job } from '../../../api/types.ts'
import { Button } from '../../../kit/button.tsx'
import { copy } from '../../../kit/text/copy.tsx'
import { Menu, MenuItem } from '../../../kit/overlays/menu.tsx'
import { sayIfProblem, wholePayload } from '../whole.ts'
import { asCommand, asCurl, asTypeScript, type Like } from './enqueue-again.ts'

const WAYS: readonly { readonly name: string; readonly write: (job: Like) => string }[] = [
  { name: 'curl', write: (job) => asCurl(job, new URL(addressOf(''), location.origin).href) },
  { name: 'TypeScript', write: asTypeScript },
  { name: 'CLI command', write: asCommand },
]

export function CopyAs({ job, left }: { readonly job: Job; readonly left: Inspected['left'] }) {
  const copyAs = ({ name, write }: (typeof WAYS)[number]): Promise<void> =>
    sayIfProblem(async () => {
      const payload = await wholePayload(job, left)
      await copy(write({ ...job, payload }), `the job as ${name}`)
    })
  return (
    <Menu
      trigger={
        <Button icon={Terminal}>
          Copy as
          <ChevronDown aria-hidden className="size-4 shrink-0" />
        </Button>
      }
    >
      {WAYS.map((way) => (
        <MenuItem key={way.name} select={() => void copyAs(way)}>
          {way.name}
        </MenuItem>
      ))}
    </Menu>
  )
}
