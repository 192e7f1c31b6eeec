/** Paging of the job list. The number of pages is not counted, because that would read every matching job. */
import { ChevronLeft, ChevronRight, ChevronsLeft } from 'lucide-react'
import type { JobPage } from '../../../api/types.ts'
import { Button, IconButton } from '../../../kit/button.tsx'
import { Select } from '../../../kit/forms/field.tsx'
import { number } from '../../../kit/text/format.ts'
import { chosenSize, type Size, SIZES, usePreference } from './choices.ts'
import type { Place } from '../use-place.ts'

interface Props {
  readonly place: Place
  readonly page: JobPage
  /** The previous page is still shown, so its end is not the end of the next one. */
  readonly isComing: boolean
}

export function Pager({ place: { steps, next, back, first }, page, isComing }: Props) {
  const size = usePreference(chosenSize)
  const cursor = page.next
  const showNext = (): void => {
    if (cursor !== null && !isComing) next(cursor, page.scanned)
  }
  return (
    <footer className="flex flex-wrap items-center gap-2 border-t border-line px-4 py-2 text-soft">
      <label className="mr-auto inline-flex items-center gap-2">
        <Select
          value={size}
          onChange={(event) => {
            chosenSize.set(Number(event.target.value) as Size)
            if (steps.length > 0) first()
          }}
        >
          {SIZES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </Select>
        jobs per page
      </label>
      <span className="tabular-nums">Page {number(steps.length + 1)}</span>
      {steps.length > 0 && <IconButton label="First page" icon={ChevronsLeft} onClick={first} />}
      <Button icon={ChevronLeft} disabled={steps.length === 0} onClick={back}>
        Previous
      </Button>
      {page.complete && (
        <Button disabled={cursor === null} onClick={showNext}>
          Next
          <ChevronRight aria-hidden className="size-4" />
        </Button>
      )}
    </footer>
  )
}
