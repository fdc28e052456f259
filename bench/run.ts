/**
 * Benchmarks. Nothing here is a test: machines differ, and a table says so.
 *
 * node bench/run.ts detection [--objects 1200] [--per-package 120] [--rounds 5] [--seed 1] [--write docs/performance.md]
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { benchDetection } from './detection.ts'
import { withSection } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    objects: { type: 'string', default: '1200' },
    'per-package': { type: 'string', default: '120' },
    rounds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    write: { type: 'string' },
  },
})
if (positionals.length !== 1 || positionals[0] !== 'detection') {
  console.error('usage: npm run bench -- detection [--objects N] [--per-package N] [--rounds N] [--seed N] [--write FILE]')
  process.exit(2)
}
const options = {
  objects: wholeNumber('objects'),
  objectsPerPackage: wholeNumber('per-package'),
  rounds: wholeNumber('rounds'),
  seed: wholeNumber('seed'),
}
const table = await benchDetection(options, (line) => console.error(line))
const command = `npm run bench -- detection --objects ${options.objects} --per-package ${options.objectsPerPackage} --rounds ${options.rounds} --seed ${options.seed}`
const body = `${table}\n\nMeasured on ${new Date().toISOString().slice(0, 10)} with \`${command}\`.`
console.log(body)
if (values.write !== undefined) {
  const before = existsSync(values.write) ? readFileSync(values.write, 'utf8') : '# Performance\n'
  writeFileSync(values.write, withSection(before, `## Detection, ${options.objects} objects`, body))
}

function wholeNumber(name: 'objects' | 'per-package' | 'rounds' | 'seed'): number {
  const value = Number(values[name])
  if (Number.isSafeInteger(value) && value > 0) return value
  console.error(`--${name} wants a whole number above 0`)
  process.exit(2)
}
