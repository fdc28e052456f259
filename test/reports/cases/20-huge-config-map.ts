/** argoproj/argo-cd#820, k3s-io/k3s#1809: a ConfigMap of nearly a mebibyte, with a line of half of it. */
import { type ReportCase, tell } from '../lab.ts'

const BOUND = 10_000

export const reported: ReportCase = {
  right:
    'in 968 KB one changed character of a long line and one changed line are found, the output is bounded, Adopt changes just them',
  before: 'right',
  async run(lab) {
    const panels = Array.from({ length: 4_500 }, (_, id) => ({
      id,
      title: `panel ${id}`,
      text: 'y'.repeat(60),
    }))
    const lines = Array.from({ length: 16_000 }, (_, index) => `line ${index} of a long text`)
    const data = {
      'dash.json': JSON.stringify({ panels }),
      'many.txt': `${lines.join('\n')}\n`,
      color: 'blue',
    }
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'big', namespace: lab.namespace },
      data,
    }
    await lab.files({ 'big.json': JSON.stringify(object) })
    await lab.serverSide()
    lab.checkQuiet('untouched', await lab.diff())

    const edit = (text: string): string =>
      text.replace('panel 2222\\"', 'panel 2223\\"').replace('line 8000 of', 'LINE 8000 of')
    await lab.replace('configmap/big', edit)
    const diff = await lab.diff()
    const isFound =
      diff.lines.length === 2 &&
      ['dash.json', 'many.txt'].every((key) => diff.lines.join().includes(key))
    lab.check(
      'found',
      isFound,
      `exit ${diff.code} · ${diff.lines.length} lines${isFound ? '' : tell(diff).slice(0, 300)}`,
    )
    for (const format of ['table', 'markdown']) {
      const { stdout } = await lab.backporch('diff', 'pkg', '-o', format)
      lab.check(
        format,
        stdout.length > 0 && stdout.length < BOUND,
        `${format} of ${stdout.length} characters`,
      )
    }
    const { text, said } = await lab.adopt('big.json')
    const isAdopted =
      text !== undefined && JSON.stringify(JSON.parse(text)) === edit(JSON.stringify(object))
    lab.check('adopted', isAdopted, isAdopted ? 'adopted: just the two' : said.slice(0, 500))
  },
}
