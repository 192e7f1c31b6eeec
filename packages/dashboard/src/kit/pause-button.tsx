/** Pauses or resumes something at once. The toast offers to undo it. */
import { Pause, Play } from 'lucide-react'
import { pauseAct, type Pausing, useAct } from '../api/acts.ts'
import { ActButton } from './act-button.tsx'

interface Props {
  readonly name: string
  readonly isPaused: boolean
  readonly pausing: Pausing
  /** The word for pausing (default `Pause`). */
  readonly verb?: string
  readonly isRow?: boolean
  readonly isTight?: boolean
  readonly disabledBecause?: string | undefined
}

export function PauseButton({
  name,
  isPaused,
  pausing,
  verb = 'Pause',
  isRow = true,
  isTight = false,
  disabledBecause,
}: Props) {
  const { actNow, isActing } = useAct()
  const word = isPaused ? 'Resume' : verb
  return (
    <ActButton
      label={`${word} ${name}`}
      word={word}
      icon={isPaused ? Play : Pause}
      isRow={isRow}
      isTight={isTight}
      disabled={isActing}
      disabledBecause={disabledBecause}
      act={() => actNow(pauseAct(!isPaused, pausing))}
    />
  )
}
