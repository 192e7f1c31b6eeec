/** Compares two attempts of the job, or the job with the last completed job of its kind. */
import type { Inspected } from '../../../api/types.ts'
import { Segmented } from '../../../kit/forms/segmented.tsx'
import { useSearchValue } from '../../../kit/search.ts'
import type { Try } from '../tries.ts'
import { CompareAttempts } from './compare-attempts.tsx'
import { CompareCompleted } from './compare-completed.tsx'

const ATTEMPTS = 'Two attempts'
const COMPLETED = 'Last completed job'
/** The parameter in the URL. */
const KEY = 'completed'

interface Props {
  readonly read: Inspected
  readonly tries: readonly Try[]
}

export function CompareTab({ read, tries }: Props) {
  const [asked, ask] = useSearchValue('with')
  const isDead = read.job.state === 'dead'
  const isCompleted = asked === null ? isDead || tries.length < 2 : asked === KEY
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div>
        <Segmented
          label="Compare"
          choices={[COMPLETED, ATTEMPTS]}
          chosen={isCompleted ? COMPLETED : ATTEMPTS}
          choose={(choice) => ask(choice === COMPLETED ? KEY : 'attempts')}
        />
      </div>
      {isCompleted ? <CompareCompleted read={read} tries={tries} /> : <CompareAttempts tries={tries} />}
    </div>
  )
}
