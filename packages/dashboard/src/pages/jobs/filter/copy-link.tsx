/** Copies a link to the jobs that this page shows. A relative time would mean other jobs to a colleague. */
import { Link2 } from 'lucide-react'
import { Button } from '../../../kit/button.tsx'
import { copy } from '../../../kit/text/copy.tsx'
import { toSearch, withInstants } from './address.ts'
import type { Filter } from './filter.ts'

export function CopyLink({ filter, now }: { readonly filter: Filter; readonly now: number }) {
  return (
    <Button
      look="quiet"
      icon={Link2}
      title="Relative times become fixed times"
      onClick={() => {
        const search = toSearch(withInstants(filter, now)).toString()
        void copy(`${location.origin}${location.pathname}${search === '' ? '' : `?${search}`}`, 'the link')
      }}
    >
      Copy link
    </Button>
  )
}
