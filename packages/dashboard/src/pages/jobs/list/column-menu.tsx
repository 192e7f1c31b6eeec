/** Chooses the columns of the job list. */
import { Columns3 } from 'lucide-react'
import { IconButton } from '../../../kit/button.tsx'
import { Menu, MenuCheck } from '../../../kit/overlays/menu.tsx'
import { chosenColumns, OPTIONAL_COLUMNS, usePreference } from './choices.ts'
import { COLUMNS } from './columns.tsx'

export function ColumnMenu() {
  const chosen = usePreference(chosenColumns)
  return (
    <Menu
      trigger={
        <IconButton label="Columns" word="Columns" isTight icon={Columns3} className="max-sm:hidden" />
      }
    >
      {OPTIONAL_COLUMNS.map((column) => (
        <MenuCheck
          key={column}
          checked={chosen.includes(column)}
          change={(isShown) =>
            // In the standard order, regardless of the order in which they were chosen.
            chosenColumns.set(
              OPTIONAL_COLUMNS.filter((one) => (one === column ? isShown : chosen.includes(one))),
            )
          }
        >
          {COLUMNS[column].name}
        </MenuCheck>
      ))}
    </Menu>
  )
}
