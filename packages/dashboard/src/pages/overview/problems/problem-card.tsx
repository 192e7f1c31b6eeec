/** One issue: what it is, how to fix it, and a link. */
import { CircleAlert, TriangleAlert } from 'lucide-react'
import { useAct } from '../../../api/acts.ts'
import { encodeName } from '../../../api/client.ts'
import { useMay } from '../../../api/roles.ts'
import type { Diagnostic, Queue } from '../../../api/types.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { classes } from '../../../kit/classes.ts'
import { Countdown } from '../../../kit/text/time.tsx'
import { type WayOut, wayOut } from './way-out.ts'

interface Props {
  readonly diagnostic: Diagnostic
  /** The queue it is about, and when that data was loaded. */
  readonly queue: Queue | undefined
  readonly asOf: number
}

export function ProblemCard({ diagnostic, queue, asOf }: Props) {
  const isError = diagnostic.level === 'error'
  const Icon = isError ? CircleAlert : TriangleAlert
  const way = wayOut(diagnostic, queue)
  return (
    <li
      className={classes(
        'flex min-w-0 flex-col gap-2 rounded-xl border bg-card p-4',
        isError ? 'border-dead' : 'border-ready/50',
      )}
    >
      <div className="flex items-start gap-2">
        <Icon
          aria-hidden
          className={classes('mt-0.5 size-4 shrink-0', isError ? 'text-dead' : 'text-ready')}
        />
        <div className="min-w-0 break-words">
          <p className="font-medium">
            <span className={isError ? 'text-dead' : 'text-ready'}>{isError ? 'Error' : 'Warning'}</span>:{' '}
            {diagnostic.message}
          </p>
          <p className="mt-1 text-soft">{diagnostic.fix}</p>
          {way.act === 'clear' && queue !== undefined && (
            <p className="mt-1 text-soft">
              Resumes in <Countdown until={asOf + queue.coolingMs} />
            </p>
          )}
        </div>
      </div>
      <div className="mt-auto flex flex-wrap justify-end gap-2">
        <LinkButton to={way.to}>{way.text}</LinkButton>
        {queue !== undefined && <QueueAct act={way.act} queue={queue.name} />}
      </div>
    </li>
  )
}

function QueueAct({ act: kind, queue }: { readonly act: WayOut['act']; readonly queue: string }) {
  const may = useMay()
  const { act, isActing } = useAct()
  // The error was already shown as a toast.
  const go = (asked: Parameters<typeof act>[0]): void => void act(asked).catch(() => {})
  if (kind === 'resume' && may('operator'))
    return (
      <Button
        look="main"
        disabled={isActing}
        onClick={() =>
          go({ method: 'POST', path: `queues/${encodeName(queue)}/resume`, done: `Resumed ${queue}` })
        }
      >
        Resume queue
      </Button>
    )
  if (kind === 'clear' && may('admin'))
    return (
      <Button
        look="main"
        disabled={isActing}
        onClick={() =>
          go({
            method: 'PATCH',
            path: `queues/${encodeName(queue)}`,
            body: { coolFor: 0 },
            done: `Resumed ${queue}`,
          })
        }
      >
        End cool-down
      </Button>
    )
  return null
}
