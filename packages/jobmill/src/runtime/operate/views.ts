/** `mill.views`: filters of the job list that users saved under a name, for everyone. */
import { BOUNDS } from '../../job/defaults.ts'
import { invalidValue, JobmillError } from '../../job/errors.ts'
import { checkKey, checkSoughtName, checkString } from '../../job/names.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import type { FullStore } from '../../store/store.ts'
import type { NewView, ViewRecord } from '../../store/types/view.ts'
import type { StoreAccess } from '../store-access.ts'
import { byOf, type ByOption } from './overrides.ts'

/** A saved view, with its author and when it was saved. */
export type SavedView = ViewRecord

export interface Views {
  /** All saved views, sorted by name. */
  list(): Promise<SavedView[]>
  /**
   * Saves a filter of the job list. `search` has its parameters, as in the address of the Jobs page:
   * `queue=mail&state=dead`. Fails with VIEW_EXISTS if another view has this name.
   */
  add(view: Omit<NewView, 'by'>, how?: ByOption): Promise<SavedView>
  /** Returns false if no view has this name. */
  delete(name: string): Promise<boolean>
}

const A_NAME = 'Pass a name such as "Dead payments"'

export function views({ opened, by }: StoreAccess): { readonly views: Views } {
  return {
    views: {
      list: async () => (await opened()).views.list(),
      async add(given, how) {
        checkObjectKeys(given, 'view', ['name', 'search'])
        const view = { name: checkViewName(given.name), search: checkView(given.search), by: byOf(how, by) }
        const store = await opened()
        const known = await store.views.list()
        const isNew = known.every(({ name }) => name !== view.name)
        if (isNew && known.length >= BOUNDS.views) throw tooMany()
        if (!(await store.views.add(view))) throw taken(view.name)
        return savedView(store, view.name)
      },
      delete: async (name) => (await opened()).views.delete(checkSoughtName(name, 'name')),
    },
  }
}

async function savedView(store: FullStore, name: string): Promise<SavedView> {
  const view = (await store.views.list()).find((one) => one.name === name)
  if (view !== undefined) return view
  throw new JobmillError('VIEW_UNKNOWN', 'another user deleted the view right after it was saved', {
    field: 'name',
    fix: 'Save it again',
  })
}

function checkViewName(given: unknown): string {
  const name = checkString(given, 'name', A_NAME).trim()
  if (name === '') throw invalidValue('name', given, 'must not be empty', A_NAME, 'NAME_INVALID')
  if (name.length <= BOUNDS.viewNameChars) return checkKey(name, 'name')
  const what = `has ${name.length} characters, more than ${BOUNDS.viewNameChars}`
  throw invalidValue('name', given, what, 'Shorten it', 'NAME_INVALID')
}

/** The parameters, encoded as in an address. */
function checkView(given: unknown): string {
  const search = new URLSearchParams(checkString(given, 'search')).toString()
  if (search === '') {
    const fix = 'Pass the parameters of a job list, such as state=dead'
    throw invalidValue('search', given, 'has no filter', fix)
  }
  if (search.length <= BOUNDS.viewChars) return search
  const what = `has ${search.length} characters, more than ${BOUNDS.viewChars}`
  throw invalidValue('search', given, what, 'Remove some filters')
}

function taken(name: string): JobmillError {
  const fix = 'Use another name, or delete that view first'
  return invalidValue('name', name, 'another view has this name', fix, 'VIEW_EXISTS')
}

function tooMany(): JobmillError {
  return new JobmillError('OPTION_INVALID', `there are already ${BOUNDS.views} saved views, the maximum`, {
    field: 'name',
    fix: 'Delete one first',
  })
}
