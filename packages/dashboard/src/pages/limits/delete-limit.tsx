/** Delete a limit that no queue draws on. */
import { useAct } from '../../api/acts.ts'
import { named } from '../../api/client.ts'
import type { Limit } from '../../api/types/mill.ts'
import { Confirm } from '../../kit/confirm.tsx'
import { plural } from '../../kit/format.ts'

interface Props {
  readonly limit: Limit
  readonly queues: readonly string[]
  readonly close: () => void
}

export function DeleteLimit({ limit: { name, held }, queues, close }: Props) {
  const { act } = useAct()
  return (
    <Confirm
      title={`Delete ${name}?`}
      verb="Delete"
      isDangerous
      isReady={queues.length === 0}
      close={close}
      act={() => act({ method: 'DELETE', path: `limits/${named(name)}`, done: `Deleted the limit ${name}` })}
    >
      {queues.length > 0 ? (
        <p>
          {plural(queues.length, 'queue')} {queues.length === 1 ? 'draws' : 'draw'} on it: {queues.join(', ')}
          . Take it out of their settings first.
        </p>
      ) : (
        <p>
          It touches 1 limit{held > 0 && ` and the ${plural(held, 'permit')} that are out`}. Handlers that
          still draw on it fail from then on.
        </p>
      )}
    </Confirm>
  )
}
