import { describeKills } from './kill-at-writes.ts'
import { SINGLE } from './scenarios-single.ts'

describeKills('one cluster', SINGLE)
