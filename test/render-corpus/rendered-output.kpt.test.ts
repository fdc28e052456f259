/** `render -o` against the real `kpt fn render -o`, over packages with and without functions: byte for byte. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { answerCalls } from '@backporch/kpt/function'
import {
  formatApplied,
  formatResourceList,
  passThroughText,
  renderFiles,
  writeOutputFiles,
} from '@backporch/kpt/render'
import { whyNoKpt } from '../kpt/find-kpt.ts'
import { ALL_CASES } from './all-cases.ts'
import { LIBRARY } from './our-render.ts'
import type { RenderCase } from './render-case.ts'
import { buildFunctionPrograms, type FunctionPrograms, runKptOutputs } from './run-kpt-render.ts'

const rendered = ALL_CASES.filter(
  ({ refused, weRefuse }) => refused === undefined && weRefuse === undefined,
)
/** kpt runs three times for each: the cases about comments, annotations, places, Kptfiles and attribution, and every fourth of the others. */
const cases = rendered.filter(
  ({ name }, index) =>
    /^(comments-(at|between|in)|place-(by|renamed)|kptfile-|attribution-)/.test(name) ||
    index % 4 === 0,
)

function ours({ files, unattributed }: RenderCase): {
  readonly list: string
  readonly applied: string
  readonly files: { readonly [path: string]: string }
} {
  const given = Object.entries(files)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, text]) => ({
      path,
      content: new TextEncoder().encode(text),
      mode: '100644' as const,
    }))
  const library = passThroughText(LIBRARY)
  const rendering = answerCalls(renderFiles('', given, unattributed !== true), library)
  if ('failures' in rendering) return assert.fail(rendering.failures[0].message)
  const { items } = rendering
  return {
    list: formatResourceList(items, library.passed),
    applied: formatApplied(items, library.passed),
    files: Object.fromEntries(writeOutputFiles(items, library.passed)),
  }
}

describe('the output of kpt fn render -o', { skip: whyNoKpt() }, () => {
  let programs: FunctionPrograms
  before(async () => {
    programs = await buildFunctionPrograms()
  })
  after(() => programs.remove())

  for (const each of cases) {
    it(`equals ours for ${each.name}`, async () => {
      const [own, kpt] = [ours(each), await runKptOutputs(each, programs)]
      assert.equal(own.list, kpt.list)
      assert.deepEqual(Object.entries(own.files).sort(), Object.entries(kpt.files).sort())
      // Of kpt's documents, in kpt's order and bytes, those that are applied.
      const documents = new Set(kpt.unwrapped.split(/^---\n/m).map(ended))
      for (const document of own.applied.split(/^---\n/m).filter((text) => text !== ''))
        assert.ok(
          documents.has(ended(document)),
          `kpt has no such document:\n${document}\n---\n${kpt.unwrapped}`,
        )
      const applied = new Set(own.applied.split(/^---\n/m).map(ended))
      for (const document of documents)
        if (!applied.has(document)) assert.match(document, NOT_APPLIED, document)
    })
  }
})

/** Of kpt and of kustomize, for tools only, and no objects at all. */
const NOT_APPLIED =
  /(?:^|[{,] *)"?kind"?: "?(Kptfile|ResourceGroup|Kustomization)|^ *config\.kubernetes\.io\/local-config: |^resources:|^\n$/m

/** The last document of a text has no line break behind a comment at its end. */
function ended(document: string): string {
  return document.replace(/\n*$/, '\n')
}
