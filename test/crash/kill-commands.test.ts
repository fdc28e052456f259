import { describeKills } from './kill-at-writes.ts'
import { ASKED } from './scenarios-asked.ts'

describeKills('commands', ASKED)
