/** Maps an edit of a generated Application to an edit of the file of its ApplicationSet. */
import { formatCanonicalJson, getPartAt, type JsonObject } from '@backporch/kyaml/json'
import { getMetadataText } from '@backporch/kyaml/resource'
import type { ResourceGenerator } from '../build/built-source.ts'
import type { SetRepository } from '../build/unit-source.ts'
import { readSourceText, type SourceFiles } from '../kustomize/files/kustomize-build.ts'
import { type GeneratedApplication, listGeneratedApplications } from './application-set.ts'
import { listTemplateNames, solveTemplateValue } from './set-template.ts'

type ByName = ReadonlyMap<string, GeneratedApplication>

export function createGenerators(
  made: readonly GeneratedApplication[],
  repository: SetRepository,
): readonly ResourceGenerator[] {
  const makes = new ApplicationSetGenerator(repository)
  return made.map(({ application, parameters }): ResourceGenerator => {
    const reads = [...new Set([...parameters.places.values()].flatMap(({ file }) => file ?? []))]
    const madeOf = (set: JsonObject, files: SourceFiles): GeneratedApplication | undefined =>
      makes.generateApplications(set, reads, files).get(getMetadataText(application, 'name'))
    return {
      template: ['spec', 'template'],
      reads,
      resourceOf: (set, files) => madeOf(set, files)?.application,
      sourcesOf: (set, files, edit) => {
        const { values = {}, places = new Map() } = madeOf(set, files)?.parameters ?? {}
        const isGo = getPartAt(set, 'spec', 'goTemplate') === true
        return listTemplateNames(edit.text).flatMap((name) => {
          const place = places.get(name)
          const value =
            place === undefined ? undefined : solveTemplateValue(name, edit, values, isGo)
          return place === undefined || value === undefined ? [] : [{ name, ...place, value }]
        })
      },
    }
  })
}

/** Computed once for all Applications while the set and its files are unchanged. */
class ApplicationSetGenerator {
  private readonly repository: SetRepository
  private last: { readonly key: string; readonly made: ByName } | undefined

  constructor(repository: SetRepository) {
    this.repository = repository
  }

  generateApplications(set: JsonObject, reads: readonly string[], files: SourceFiles): ByName {
    const { texts } = this.repository
    const edited = reads.flatMap((path) => {
      const text = files.has(path) ? readSourceText(path, files) : undefined
      return text === undefined || text === texts.get(path) ? [] : [[path, text] as const]
    })
    const key = formatCanonicalJson([set, edited.map((each) => [...each])])
    if (this.last?.key !== key)
      this.last = { key, made: this.generate(set, new Map([...texts, ...edited])) }
    return this.last.made
  }

  private generate(set: JsonObject, texts: SetRepository['texts']): ByName {
    const all = listGeneratedApplications(set, { ...this.repository, texts })
    return new Map(
      'why' in all
        ? []
        : all
            .toReversed()
            .map((each) => [getMetadataText(each.application, 'name'), each] as const),
    )
  }
}
