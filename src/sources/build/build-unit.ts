import type { PackageRenderer, TurnRendering } from '../kpt/render/package-renderer.ts'
import { type BuildAnswer, buildKey, NO_BUILDS } from '../programs/package-builder.ts'
import { computeAnswered, Unanswered } from '../programs/questions.ts'
import type { BuiltSource } from './built-source.ts'
import { convertAnswer, createBuild, readBuilt } from './read-built.ts'
import type { FilesRead, OriginUnit } from './source.ts'

export const BUILT = {
  build: async (
    renderer: PackageRenderer,
    _unit: unknown,
    { source, failures }: FilesRead,
    signal: AbortSignal,
  ): Promise<TurnRendering> => {
    const [first, ...others] = failures
    if (first !== undefined) return { failures: [first, ...others] }
    if (source === undefined) throw new TypeError('a unit is built without its source')
    return readBuilt(source, await buildUnit(renderer, source, signal))
  },
  originOf: ({ built, resources }: OriginUnit) =>
    built === undefined ? () => [] : built.source.tool.originOf(built.source, resources),
}

/** @throws Failure BP9001 if the builder broke, and the signal's reason */
export async function buildUnit(
  { builder }: PackageRenderer,
  source: BuiltSource,
  signal: AbortSignal,
): Promise<BuildAnswer> {
  if (builder === undefined) return convertAnswer(source, NO_BUILDS)
  const before = new Set<string>()
  let failed: BuildAnswer | undefined
  const build = await computeAnswered(
    () => failed ?? createBuild(source, builder.library),
    async (question) => {
      const builds = question.kind === 'builds' ? question.builds : []
      // An answer that is not stored would be requested endlessly.
      if (builds.every((each) => before.has(buildKey(each)))) throw new Unanswered(question)
      for (const each of builds) before.add(buildKey(each))
      const answers = await Promise.all(builds.map((each) => builder.build(each, signal)))
      failed = answers.find((answer) => 'failure' in answer)
    },
  )
  return 'tool' in build ? builder.build(build, signal) : build
}

export function convertToFilesRead({
  source,
  failures,
}: {
  readonly source: BuiltSource
  readonly failures: FilesRead['failures']
}): FilesRead {
  return { source, paths: new Set(source.files.keys()), failures }
}
