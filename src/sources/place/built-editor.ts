import { adoptThroughBuild, listBuiltAdoptionProblems } from '../build/adopt/build-adoption.ts'
import type { BuiltUnit } from '../build/built-unit.ts'
import type { EditInput, SourceEditor } from '../build/source.ts'
import { placeInBuild } from './place-in-build.ts'
import { joinFiles, selectWholeChanges } from './place-objects.ts'

export const BUILT_EDITOR: SourceEditor = {
  apply: (input) => {
    const { files, notes } = adoptThroughBuild({ ...getBuiltUnit(input), changes: input.changes })
    return { changes: [...files].map(([path, content]) => ({ path, content })), notes }
  },
  place: (input, edited) => {
    const changes = selectWholeChanges(input.changes)
    if (changes.length === 0) return edited
    const contents = new Map(edited.map(({ path, content }) => [path, content]))
    return joinFiles(contents, placeInBuild(getBuiltUnit(input), contents, changes))
  },
  problems: (input) =>
    listBuiltAdoptionProblems({ ...getBuiltUnit(input), changes: input.changes }),
}

function getBuiltUnit({ built, packagePath }: EditInput): BuiltUnit {
  if (built === undefined) throw new TypeError(`${packagePath || '.'} is edited without its build`)
  return built
}
