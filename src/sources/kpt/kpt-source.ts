import { answerCalls } from '@backporch/kpt/function'
import { isReadOf } from '@backporch/kpt/package'
import type { PackageFiles } from '@backporch/kyaml/files'
import type { RenderChoice } from '../build/render-choice.ts'
import type { EditInput, Source } from '../build/source.ts'
import { joined } from '../kustomize/files/kustomization-walk.ts'
import { contentOf, filesEditor, placeInFiles } from '../place/files-editor.ts'
import { adoptionProblems, adoptThroughPipeline } from './adopt/adoption.ts'
import { FieldOrigins, originLines } from './adopt/field-origin.ts'
import { type RenderedPackage, renderPackage } from './render/render-package.ts'

const FILES = filesEditor(rendered)

export const KPT: Source<Extract<RenderChoice, { readonly tool: 'kpt' }>> = {
  discover: 'none',
  describe: ({ tool }) => ({
    title: tool,
    how: `with ${tool}`,
    key: [tool],
    kubectl: 'rendered files',
    reads: 'manifests',
  }),
  policy: { allowed: [], required: [], choiceOf: () => ({ tool: 'kpt' }) },
  filesRead: async (_commit, { packagePath, files }) => ({
    source: undefined,
    paths: new Set(
      files.filter(({ path }) => isReadOf(path)).map(({ path }) => joined(packagePath, path)),
    ),
    failures: [],
  }),
  build: (renderer, { packagePath, files }, _read, signal) =>
    renderer.render(packagePath, files, signal),
  originOf: (unit) => {
    const origins = new FieldOrigins(unit)
    return (desired, path) => {
      const origin = origins.of(desired, path)
      return origin === undefined ? [] : originLines(origin)
    }
  },
  edit: {
    apply: (input) => {
      if (!input.pipeline) return FILES.apply(input)
      const { texts, notes } = adoptThroughPipeline(input)
      return { changes: [...texts].map(([path, text]) => contentOf(path, text)), notes }
    },
    place: (input, edited) => placeInFiles(input, edited, rendered),
    problems: (input) => (input.pipeline ? adoptionProblems(input) : FILES.problems(input)),
  },
}

function rendered({ packagePath, functions }: EditInput, files: PackageFiles): RenderedPackage {
  const rendering = answerCalls(renderPackage(packagePath, files, { attributed: false }), functions)
  if ('failures' in rendering) throw rendering.failures[0]
  return rendering
}
