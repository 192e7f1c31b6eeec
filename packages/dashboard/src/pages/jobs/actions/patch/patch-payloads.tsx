/** A merge patch for the payloads of the retried jobs, with the first job before and after. */
import type { MergePatch } from 'jobmill/internal'
import { Braces, X } from 'lucide-react'
import { useDeferredValue } from 'react'
import { Button } from '../../../../kit/button.tsx'
import { JsonEditor, useJson } from '../../../../kit/json/json-editor.tsx'
import { patchIn } from '../../../../kit/json/patch-in.ts'
import { PatchPreview } from './patch-preview.tsx'

interface Props {
  /** Null for a retry without a patch. */
  readonly text: string | null
  readonly change: (text: string | null) => void
  /** The id of a job that will be retried. Null while none is known. */
  readonly first: string | null
}

/** The patch in the text, and whether a retry can be sent. */
export function usePatch(text: string | null): { patch: MergePatch | null; isSendable: boolean } {
  const { patch } = patchIn(useJson(text ?? '{}'))
  return { patch, isSendable: text === null || patch !== null }
}

export function PatchPayloads({ text, change, first }: Props) {
  if (text === null)
    return (
      <Button look="quiet" icon={Braces} className="self-start" onClick={() => change('{\n  \n}')}>
        Patch payloads
      </Button>
    )
  return <PatchFields text={text} change={change} first={first} />
}

function PatchFields({ text, change, first }: Props & { readonly text: string }) {
  const { patch, problem } = patchIn(useJson(useDeferredValue(text)))
  return (
    <>
      <JsonEditor
        label="Merge patch"
        text={text}
        change={change}
        problems={problem === null ? [] : [problem]}
        tools={
          <Button look="quiet" icon={X} onClick={() => change(null)}>
            Remove patch
          </Button>
        }
      />
      <p className="text-xs text-soft">
        Members of the patch replace members of each payload; null removes a member. Jobs whose payload would
        be invalid are skipped and stay as they are.
      </p>
      {patch !== null && first !== null && <PatchPreview id={first} patch={patch} />}
    </>
  )
}
