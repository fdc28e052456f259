/** How an ApplicationSet in a file makes one of its Applications: an edit of the file is an edit of the Application. */
import { type JsonObject, partOf } from '../../text/json.ts'
import { type SourceFiles, textOf } from '../kustomize/kustomize-build.ts'
import { isSameResource, type ResourceMaker } from '../syncer-build.ts'
import { applicationsOf, type MadeApplication, type SetRepository } from './application-set.ts'
import { namesIn, valueFor } from './set-template.ts'

/** @param made one that it makes */
export function setMaker({ application, parameters }: MadeApplication, repository: SetRepository): ResourceMaker {
  const reads = [...new Set([...parameters.places.values()].flatMap(({ file }) => file ?? []))]
  const madeOf = (set: JsonObject, files: SourceFiles): MadeApplication | undefined => {
    const texts = new Map(repository.texts)
    for (const path of reads) if (files.has(path)) texts.set(path, textOf(path, files))
    const all = applicationsOf(set, { ...repository, texts })
    return 'why' in all ? undefined : all.find((each) => isSameResource(each.application, application))
  }
  return {
    template: ['spec', 'template'],
    reads,
    resourceOf: (set, files) => madeOf(set, files)?.application,
    sourcesOf: (set, files, edit) => {
      const { values = {}, places = new Map() } = madeOf(set, files)?.parameters ?? {}
      const isGo = partOf(set, 'spec', 'goTemplate') === true
      return namesIn(edit.text).flatMap((name) => {
        const place = places.get(name)
        const value = place === undefined ? undefined : valueFor(name, edit, values, isGo)
        return place === undefined || value === undefined ? [] : [{ name, ...place, value }]
      })
    },
  }
}
