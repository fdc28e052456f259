/** How an ApplicationSet in a file makes one of its Applications: an edit of the file is an edit of the Application. */
import { type JsonObject, partOf } from '../../text/json.ts'
import { isSameResource, type ResourceMaker } from '../syncer-build.ts'
import { applicationsOf, type MadeApplication, type SetRepository } from './application-set.ts'
import { namesIn, valueFor } from './set-template.ts'

/** @param application one that it makes */
export function setMaker(application: JsonObject, repository: SetRepository): ResourceMaker {
  const madeOf = (set: JsonObject): MadeApplication | undefined => {
    const made = applicationsOf(set, repository)
    return 'why' in made ? undefined : made.find((each) => isSameResource(each.application, application))
  }
  return {
    template: ['spec', 'template'],
    resourceOf: (set) => madeOf(set)?.application,
    sourcesOf: (set, text, wanted) => {
      const { values = {}, places = new Map() } = madeOf(set)?.parameters ?? {}
      const isGo = partOf(set, 'spec', 'goTemplate') === true
      return namesIn(text).flatMap((name) => {
        const at = places.get(name)
        const value = at === undefined ? undefined : valueFor(name, { text, wanted }, values, isGo)
        return at === undefined || value === undefined ? [] : [{ name, at, value }]
      })
    },
  }
}
